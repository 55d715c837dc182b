// The import rule of ARCHITECTURE.md, checked on the built JavaScript: types are erased there, so a
// folder may name another's types wherever it likes, and values only along the arrows. The modules
// are in dist, and what other packages load is the bundle in dist/bundle.

/** What each folder of the core may import besides itself. */
const arrows = {
  errors: [],
  "own-value": [],
  extension: ["errors"],
  warnings: ["errors"],
  listener: ["errors", "warnings"],
  clock: ["errors"],
  identity: ["errors", "own-value"],
  policy: ["errors", "extension"],
  algorithms: ["policy", "errors"],
  decision: ["policy", "errors"],
  store: ["decision", "policy", "clock", "errors", "extension", "warnings", "algorithms"],
  limiter: [
    "store",
    "decision",
    "policy",
    "identity",
    "clock",
    "errors",
    "own-value",
    "extension",
    "warnings",
  ],
  policies: [
    "limiter",
    "store",
    "decision",
    "policy",
    "clock",
    "errors",
    "extension",
    "algorithms",
  ],
  failsafe: ["store", "decision", "policy", "listener", "clock", "errors", "warnings"],
  events: ["limiter", "identity", "listener", "clock", "errors", "warnings"],
  http: [
    "limiter",
    "policies",
    "store",
    "decision",
    "policy",
    "identity",
    "listener",
    "clock",
    "errors",
    "warnings",
  ],
  schema: ["policies", "policy", "errors"],
  testing: [
    "limiter",
    "policies",
    "failsafe",
    "store",
    "decision",
    "policy",
    "identity",
    "clock",
    "errors",
    "algorithms",
  ],
};

const core = "^packages/core/dist/";
const anyOf = (names) => `(${names.join("|")})(/|\\.js$)`;
const installed = (names) => `(^|node_modules/)(${names.join("|")})(/|$)`;

const layers = Object.entries(arrows).map(([folder, targets]) => ({
  name: `core-${folder}`,
  comment: `core/${folder} may import ${targets.join(", ") || "nothing"} of the core`,
  severity: "error",
  from: { path: core + anyOf([folder]) },
  to: { path: core, pathNot: core + anyOf([folder, ...targets]) },
}));

const rules = [
  ...layers,
  {
    name: "core-known-folders",
    comment: "a new folder of the core gets its arrows above before it imports anything",
    severity: "error",
    from: { path: core, pathNot: core + anyOf([...Object.keys(arrows), "index", "bundle"]) },
    to: {},
  },
  {
    name: "algorithms-only-under-memory",
    comment: "of the stores, only the memory store runs the algorithms",
    severity: "error",
    from: { path: `${core}store/`, pathNot: `${core}store/memory` },
    to: { path: `${core}algorithms` },
  },
  {
    name: "core-index-without-extras",
    comment: "the main entry loads no other public entry",
    severity: "error",
    from: { path: `${core}index\\.js$` },
    to: { path: core + anyOf(["events", "failsafe", "http", "policies", "schema", "testing"]) },
  },
  {
    name: "core-no-node",
    comment: "the core runs where there is no node: module",
    severity: "error",
    from: { path: core },
    to: { dependencyTypes: ["core"] },
  },
  {
    name: "core-few-dependencies",
    comment: "the core knows no framework and no client library",
    severity: "error",
    from: { path: core },
    to: {
      dependencyTypes: ["npm", "npm-dev", "npm-peer", "npm-optional", "npm-no-pkg", "unknown"],
      pathNot: installed(["ipaddr\\.js", "@noble/hashes", "zod", "fast-check"]),
    },
  },
  {
    name: "zod-only-in-schema",
    comment: "core/schema is the only importer of zod",
    severity: "error",
    from: { path: "^packages/", pathNot: `${core}(bundle/)?schema(/|\\.js$)` },
    to: { path: installed(["zod"]) },
  },
  {
    name: "fast-check-only-in-testing",
    comment: "core/testing is the only importer of fast-check",
    severity: "error",
    from: { path: "^packages/", pathNot: `${core}(bundle/)?testing(/|(-laws)?\\.js$)` },
    to: { path: installed(["fast-check"]) },
  },
  {
    name: "core-imports-no-package",
    comment: "the core imports no other package of Headgate",
    severity: "error",
    from: { path: "^packages/core/" },
    to: { path: "^packages/", pathNot: "^packages/core/" },
  },
  {
    name: "adapters-import-core-and-http",
    comment: "an adapter imports @headgate/core and @headgate/core/http, and no other package",
    severity: "error",
    from: { path: "^packages/(express|next)/" },
    to: { path: "^packages/", pathNot: ["^packages/$1/", `${core}bundle/(index|http)\\.js$`] },
  },
  {
    name: "redis-imports-core",
    comment:
      "the Redis store imports @headgate/core, its failsafe and policies, and no other package",
    severity: "error",
    from: { path: "^packages/redis/" },
    to: {
      path: "^packages/",
      pathNot: ["^packages/redis/", `${core}bundle/(index|failsafe|policies)\\.js$`],
    },
  },
  {
    name: "cli-imports-core",
    comment: "the command line imports the core's http, policies and schema, and no other package",
    severity: "error",
    from: { path: "^packages/cli/" },
    to: {
      path: "^packages/",
      pathNot: ["^packages/cli/", `${core}bundle/(index|http|policies|schema)\\.js$`],
    },
  },
  {
    name: "nothing-imports-cli",
    comment: "the command line stands on the packages, and none on it",
    severity: "error",
    from: { path: "^packages/", pathNot: "^packages/cli/" },
    to: { path: "^packages/cli/" },
  },
  {
    name: "otel-imports-core",
    comment: "the metrics import @headgate/core and its events, and no other package",
    severity: "error",
    from: { path: "^packages/otel/" },
    to: {
      path: "^packages/",
      pathNot: ["^packages/otel/", `${core}bundle/(index|events)\\.js$`],
    },
  },
  {
    name: "no-source-of-a-package",
    comment: "what is built imports no source, its own or another's",
    severity: "error",
    from: { path: "^packages/[^/]+/dist/" },
    to: { path: "^packages/[^/]+/(src|test)/" },
  },
  {
    name: "no-cycles",
    comment: "no file imports itself through others",
    severity: "error",
    from: {},
    to: { circular: true },
  },
  {
    name: "resolvable",
    comment: "every import leads somewhere",
    severity: "error",
    from: {},
    to: { couldNotResolve: true },
  },
];

export default {
  forbidden: rules,
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^packages/[^/]+/(src|test|vectors|lua)/.*\\.ts$" },
    moduleSystems: ["es6", "cjs"],
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default"],
    },
  },
};
