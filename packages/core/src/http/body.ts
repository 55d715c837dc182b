import type { Decision } from "../decision/decision.js";

/** A refusal's status, machine-readable code and sentence. */
export interface Refusal {
  readonly status: number;
  readonly code: "RATE_LIMITED" | "RATE_LIMITER_UNAVAILABLE" | "RATE_LIMIT_KEY_MISSING";
  readonly message: string;
}

/** A body and its media type. */
export interface Content {
  readonly contentType: string;
  readonly body: string;
}

export function limited(status: number, retrySeconds: number | undefined): Refusal {
  const advice =
    retrySeconds === undefined ? "This request can never fit the limit." : retryAfter(retrySeconds);
  return { status, code: "RATE_LIMITED", message: `Too many requests. ${advice}` };
}

export function unavailable(retrySeconds: number): Refusal {
  return {
    status: 503,
    code: "RATE_LIMITER_UNAVAILABLE",
    message: `The rate limiter is unavailable. ${retryAfter(retrySeconds)}`,
  };
}

export const keyMissing: Refusal = {
  status: 403,
  code: "RATE_LIMIT_KEY_MISSING",
  message: "This request does not say who makes it, and its rate limit needs to know.",
};

function retryAfter(seconds: number): string {
  return `Retry after ${seconds} ${seconds === 1 ? "second" : "seconds"}.`;
}

/** `{"error":{"code":…,"message":…}}`, with no other members. */
export function jsonContent({ code, message }: Refusal): Content {
  return {
    contentType: "application/json; charset=utf-8",
    body: JSON.stringify({ error: { code, message } }),
  };
}

const registry = "https://iana.org/assignments/http-problem-types";
const problemTypes = {
  limit: { type: `${registry}#quota-exceeded`, title: "Quota Exceeded" },
  ban: { type: `${registry}#abnormal-usage-detected`, title: "Abnormal Usage Detected" },
};

/** Problem details (RFC 9457), with the problem types of the IETF rate limit draft. */
export function problemContent(
  { status, code, message }: Refusal,
  decision: Decision | undefined,
): Content {
  const violated =
    decision?.outcomes.filter(({ allowed }) => !allowed).map(({ policy }) => policy.name) ?? [];
  const problem =
    code === "RATE_LIMITED"
      ? problemTypes[decision?.reason === "ban" ? "ban" : "limit"]
      : {
          type: "about:blank",
          title: code === "RATE_LIMITER_UNAVAILABLE" ? "Service Unavailable" : "Forbidden",
        };
  const members = {
    ...problem,
    status,
    detail: message,
    ...(violated.length > 0 ? { "violated-policies": violated } : {}),
  };
  return { contentType: "application/problem+json", body: JSON.stringify(members) };
}
