import { HeadgateError } from "@headgate/core";
import { type AddressSource, addressFrom } from "@headgate/core/http";

/** What a limiter reads of a request: that of the Web, of Next's proxy and route handlers, and of a Server Action. */
export interface WebRequest {
  readonly method: string;
  readonly headers: Headers;
  /** Aborted when the client has gone. */
  readonly signal?: AbortSignal;
}

/** A header's value; several lines come joined by commas. */
export function headerOf(request: WebRequest, name: string): string | undefined {
  return request.headers.get(name) ?? undefined;
}

/**
 * Where a Web request's address is read. Next tells nothing of the connection, so a source that would
 * ask for it is an error, and so is none at all: a default would be wrong for half of all deployments.
 *
 * @throws HeadgateError `INVALID_OPTION`
 */
export function addressOfWeb<Request extends WebRequest>(
  caller: string,
  source: AddressSource<Request>,
): (request: Request) => string | undefined {
  requireSource(caller, source);
  const trusted = typeof source === "object" && "trustedProxies" in source && source.trustedProxies;
  if (trusted === 0 || (Array.isArray(trusted) && trusted.length === 0)) {
    throw new HeadgateError(
      "INVALID_OPTION",
      `${caller}: ip.trustedProxies must name at least one proxy: Next.js does not tell who is at the other end of the connection`,
    );
  }
  return addressFrom(source, { header: headerOf, socketAddress: () => undefined });
}

/** @throws HeadgateError `INVALID_OPTION` when no source is given */
export function requireSource(caller: string, source: unknown): void {
  if (typeof source === "function" || (typeof source === "object" && source !== null)) return;
  throw new HeadgateError(
    "INVALID_OPTION",
    `${caller}: ip must say where the client's address is read: { trustedProxies: 1 } behind one proxy, { header: "x-real-ip" } where the platform sets it, or a function`,
  );
}
