import { HeadgateError } from "@headgate/core";
import { pathToRegexp } from "path-to-regexp";

const dataPath = /^\/_next\/data\/[^/]+(\/.*)\.json$/;

/**
 * The path that rules are matched against: decoded once, repeated and trailing slashes folded, letters
 * as they are. Next has already removed the base path and the locale.
 */
export function normalPath(pathname: string): string {
  const decoded = decodedOnce(pathname).replace(/[/\\]+/g, "/");
  const page = dataPath.exec(decoded)?.[1]?.replace(/^\/index$/, "/") ?? decoded;
  const trimmed = page.length > 1 && page.endsWith("/") ? page.slice(0, -1) : page;
  return trimmed === "" ? "/" : trimmed;
}

/**
 * A test for any of some patterns, in the syntax of `config.matcher`: `/api/login`, `/api/:path*`,
 * `/users/:id(\\d+)`. Letters count as they are, as they do for Next's own routes.
 *
 * @throws HeadgateError `INVALID_OPTION` naming the pattern
 */
export function pathMatcher(
  option: string,
  patterns: string | readonly string[],
): (path: string) => boolean {
  const list = typeof patterns === "string" ? [patterns] : patterns;
  if (!Array.isArray(list) || list.length === 0) throw invalidPath(option, patterns);
  const tests = list.map((pattern) => compiled(option, pattern));
  return (path) => tests.some((test) => test.test(path));
}

function compiled(option: string, pattern: unknown): RegExp {
  if (typeof pattern !== "string" || !pattern.startsWith("/")) throw invalidPath(option, pattern);
  try {
    return pathToRegexp(pattern, [], { sensitive: true });
  } catch (cause) {
    throw invalidPath(option, pattern, cause);
  }
}

function invalidPath(option: string, value: unknown, cause?: unknown): HeadgateError {
  const reason = cause instanceof Error ? ` (${cause.message})` : "";
  return new HeadgateError(
    "INVALID_OPTION",
    `${option}: must be a path such as "/api/:path*" or a list of them, got ${JSON.stringify(value)}${reason}`,
    { cause },
  );
}

/** As in Next: a path that is not valid percent-encoding stays as it is, and reaches no route. */
function decodedOnce(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
