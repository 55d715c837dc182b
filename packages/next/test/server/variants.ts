/** An application to build: a version of Next, and the file that its proxy function stands in. */
export interface Variant {
  readonly name: string;
  readonly next: "next" | "next15";
  readonly file: "proxy" | "middleware";
  readonly runtime?: "nodejs";
  readonly basePath?: string;
  /** Of the Pages Router; the first is the default one. */
  readonly locales?: readonly string[];
}

export const next16Proxy: Variant = { name: "next16-proxy", next: "next", file: "proxy" };
export const next16Edge: Variant = { name: "next16-edge", next: "next", file: "middleware" };
export const next15Edge: Variant = { name: "next15-edge", next: "next15", file: "middleware" };
export const next15Node: Variant = {
  name: "next15-node",
  next: "next15",
  file: "middleware",
  runtime: "nodejs",
  basePath: "/shop",
  locales: ["en", "nl"],
};
