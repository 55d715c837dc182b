/** Text that is HTML already. */
export class Markup {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Content = string | number | Markup | undefined | readonly (string | Markup)[];

const entities: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** HTML from a template: whatever is put into it is text, unless it is markup itself. */
export function html(parts: TemplateStringsArray, ...contents: readonly Content[]): Markup {
  const texts = contents.map((content, index) => contentText(content) + parts[index + 1]);
  return new Markup([parts[0], ...texts].join(""));
}

function contentText(content: Content): string {
  if (content === undefined) return "";
  if (content instanceof Markup) return content.text;
  if (typeof content === "object") return content.map(contentText).join("");
  return String(content).replace(/[&<>"']/g, (character) => entities[character] as string);
}

/** Data for a script of the page, such that no text in it can end the element. */
export function dataScript(id: string, data: unknown): Markup {
  const json = JSON.stringify(data).replaceAll("<", "\\u003c");
  return new Markup(`<script type="application/json" id="${id}">${json}</script>`);
}
