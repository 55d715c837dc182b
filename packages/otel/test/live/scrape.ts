/** One sample of a scrape in Prometheus's text format. */
export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

/** What a metrics endpoint shows now. */
export async function scrape(url: string): Promise<readonly Sample[]> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
  const lines = (await response.text()).split("\n");
  return lines.filter((line) => line !== "" && !line.startsWith("#")).map(sampleOf);
}

const line = /^(?<name>[a-z0-9_]+)(?:\{(?<labels>.*)\})? (?<value>\S+)(?: \d+)?$/i;
const label = /(?<key>[a-z0-9_]+)="(?<value>[^"]*)"/gi;

function sampleOf(text: string): Sample {
  const { name, labels, value } = line.exec(text)?.groups ?? {};
  if (name === undefined) throw new Error(`not a sample: ${text}`);
  const pairs = [...(labels ?? "").matchAll(label)].map(({ groups }) => [
    groups?.key ?? "",
    groups?.value ?? "",
  ]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value) };
}
