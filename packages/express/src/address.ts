import { warnOnce } from "@headgate/core";
import { type AddressSource, addressFrom } from "@headgate/core/http";
import type { Request } from "express";

/**
 * Where the client's address is read: an explicit source, or `req.ip`, which honours the application's
 * `trust proxy`.
 */
export function addressReader(
  source: AddressSource<Request> | undefined,
): (request: Request) => string | undefined {
  if (source !== undefined) return addressFrom(source, { header, socketAddress });
  return (request) => {
    warnOfTrust(request);
    return request.ip ?? socketAddress(request);
  };
}

/** A header's value; several lines of X-Forwarded-For come joined by commas. */
export function header(request: Request, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value.join(", ") : value;
}

function socketAddress(request: Request): string | undefined {
  return request.socket?.remoteAddress;
}

function warnOfTrust(request: Request): void {
  const trust: unknown = request.app?.get("trust proxy");
  if (trust === true) {
    warnOnce(
      "HEADGATE_TRUST_PROXY",
      'Express has "trust proxy" set to true, so every client can choose its own address. Set the number of proxies, or the option ip.',
    );
  } else if (!trust && request.headers["x-forwarded-for"] !== undefined) {
    warnOnce(
      "HEADGATE_UNTRUSTED_PROXY",
      'A request has X-Forwarded-For, but Express has no "trust proxy": behind a proxy all clients share its address. Set the number of proxies, or the option ip.',
    );
  }
}
