import { HeadgateError } from "@headgate/core";
import { pathToRegexp } from "path-to-regexp";

const dataPath = /^\/_next\/data\/[^/]+(\/.*)\.json$/s;

/**
 * The forms of a path that rules are matched against: decoded once, repeated and trailing slashes folded,
 * letters as they are. Next has already removed the base path and the locale.
 *
 * Next looks for a route without parameters by the whole decoded path, and for one with parameters before
 * decoding: `/users/a%2Fb` may be `/users/a/b`, and `/users/[id]`. So an encoded slash gives two forms.
 */
export function pathForms(pathname: string): readonly string[] {
  const bySegment = pathname.split("/").map(decodedSegment).join("/");
  return [...new Set([folded(decodedOnce(pathname)), folded(bySegment)])];
}

function folded(decoded: string): string {
  const path = decoded.replace(/[/\\]+/g, "/");
  const page = dataPath.exec(path)?.[1]?.replace(/^\/index$/, "/") ?? path;
  const trimmed = page.length > 1 && page.endsWith("/") ? page.slice(0, -1) : page;
  return trimmed === "" ? "/" : trimmed;
}

/** A slash that was encoded stays so, and ends no segment. */
function decodedSegment(segment: string): string {
  return decodedOnce(segment).replace(/[/\\]/g, encodeURIComponent);
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
    // A decoded path may hold "?", "#" and line ends, which are text like any other there.
    const { source, flags } = pathToRegexp(pattern, [], { sensitive: true, delimiter: "/" });
    return new RegExp(source, `${flags}s`);
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

/** What is not valid percent-encoding stays as it is. */
function decodedOnce(pathname: string): string {
  try {
    return decodeURIComponent(pathname);
  } catch {
    return pathname;
  }
}
