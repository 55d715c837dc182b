import { HeadgateError } from "@headgate/core";
import type { Request } from "express";

/**
 * The pattern of the route that a request has met, such as `/items/:id`.
 *
 * @throws HeadgateError `INVALID_OPTION` where Express does not tell it: outside a route, for a pattern that is no
 *   text, and below a router with a path, of which only the client's own spelling is known
 */
export function routeOf({ route, baseUrl }: Request): string {
  const pattern: unknown = (route as { path?: unknown } | undefined)?.path;
  if (typeof pattern === "string" && baseUrl === "") return pattern;
  throw new HeadgateError(
    "INVALID_OPTION",
    'a policy counts by "route", which is not known where this limiter stands: give its mount the option route, such as { route: "/items/:id" }',
  );
}
