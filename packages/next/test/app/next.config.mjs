import { readFileSync } from "node:fs";

const { basePath = "", locales } = JSON.parse(readFileSync("./package.json", "utf8")).headgate;

export default {
  poweredByHeader: false,
  basePath,
  ...(locales && { i18n: { locales, defaultLocale: locales[0], localeDetection: false } }),
  redirects: async () => [{ source: "/old", destination: "/", permanent: false }],
  rewrites: async () => [{ source: "/renamed", destination: "/api/echo" }],
};
