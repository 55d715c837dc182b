import type { LoggedRequest } from "../reading/request.js";

/** Routes that are told apart; what comes later is counted together. */
const mostRoutes = 10_000;
const longestRoute = 200;
const identifier =
  /^(?:\d+|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=.*\d)[0-9a-f]{16,})$/i;

/** What requests without a method or a path are counted under. */
export const notHttp = "(no HTTP request)";

/** What routes are counted under that come after there are too many to tell apart. */
const others = "(other routes)";

/** Counts by route. */
export class Routes {
  readonly #counts = new Map<string, number>();

  count(route: string): void {
    const count = this.#counts.get(route);
    if (count !== undefined) this.#counts.set(route, count + 1);
    else if (this.#counts.size < mostRoutes) this.#counts.set(route, 1);
    else this.#counts.set(others, (this.#counts.get(others) ?? 0) + 1);
  }

  /** The routes with the highest counts. */
  top(most: number): readonly (readonly [route: string, count: number])[] {
    return [...this.#counts].sort(([, a], [, b]) => b - a).slice(0, most);
  }
}

/** The route of a request: its method, and its path without a query and with `:id` for what names one thing. */
export function routeOf(request: LoggedRequest): string {
  const path = request.field("path");
  if (path === undefined) return notHttp;
  const [plain = ""] = path.split(/[?#]/, 1);
  const steps = plain.split("/").map((step) => (identifier.test(step) ? ":id" : step));
  const method = request.field("method");
  return `${method === undefined ? "" : `${method} `}${steps.join("/")}`.slice(0, longestRoute);
}
