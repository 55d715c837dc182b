import type { WebRequest } from "./address.js";

const seeOther = 303;

/**
 * The response that Next makes of what `redirect()`, `notFound()`, `forbidden()` and `unauthorized()`
 * throw in a route handler, so that it can carry the fields; undefined for any other error.
 */
export function responseOfThrown(thrown: unknown, request: WebRequest): Response | undefined {
  const digest: unknown = (thrown as { digest?: unknown } | null | undefined)?.digest;
  if (typeof digest !== "string") return undefined;
  const [kind, ...rest] = digest.split(";");
  if (kind === "NEXT_HTTP_ERROR_FALLBACK") return withStatus(Number(rest[0]));
  if (kind !== "NEXT_REDIRECT") return undefined;
  // NEXT_REDIRECT;replace;<location, which may have semicolons>;307;
  const location = rest.slice(1, -2).join(";");
  const status = sendsForm(request) ? seeOther : Number(rest.at(-2));
  return withStatus(status, { Location: location });
}

/** A redirect after a form or an action is followed with GET. Next knows the first type without parameters only. */
function sendsForm({ method, headers }: WebRequest): boolean {
  if (method !== "POST") return false;
  const type = headers.get("content-type") ?? "";
  return (
    headers.has("next-action") ||
    type === "application/x-www-form-urlencoded" ||
    type.startsWith("multipart/form-data")
  );
}

function withStatus(
  status: number,
  headers?: Readonly<Record<string, string>>,
): Response | undefined {
  if (!(status >= 300 && status <= 599)) return undefined;
  return new Response(null, { status, ...(headers && { headers }) });
}
