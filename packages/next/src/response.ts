import {
  type ContinuePlan,
  mergeExposed,
  type RejectPlan,
  type ResponsePlan,
} from "@headgate/core/http";
import type { WebRequest } from "./address.js";

const exposeName = "Access-Control-Expose-Headers";
/** Those of the IETF draft. */
const standardNames: readonly string[] = ["RateLimit-Policy", "RateLimit"];
const withoutBody: readonly number[] = [204, 205, 304];

/** Headers that the application adds to its refusals, such as those of CORS. */
export type RefusalHeaders<Request> = (
  request: Request,
) => Headers | Readonly<Record<string, string>>;

/** How a refusal differs from its plan. */
interface RefusalDetails<Request> {
  /** The media type of a plain text body, instead of the plan's body. */
  readonly text?: string | undefined;
  readonly refusalHeaders?: RefusalHeaders<Request> | undefined;
}

/** The answer to a refused request. */
export function refusalOf<Request extends WebRequest>(
  plan: RejectPlan,
  request: Request,
  { text, refusalHeaders }: RefusalDetails<Request>,
): Response {
  // The application's come first: it cannot take away Retry-After by accident.
  const headers = new Headers(refusalHeaders?.(request));
  setFields(headers, plan, plan.status);
  if (text === undefined) return new Response(plan.body, { status: plan.status, headers });
  headers.set("Content-Type", text);
  return new Response(plan.message, { status: plan.status, headers });
}

/**
 * Puts the fields of an admitted request on its response. A response whose headers cannot be changed,
 * as that of `Response.redirect()` or `fetch()`, is copied; one that cannot be copied stays as it is.
 */
export function withFields(response: Response, plan: ContinuePlan): Response {
  if (plan.headers.length === 0 && plan.expose.length === 0) return response;
  try {
    setFields(response.headers, plan, response.status);
    return response;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
  }
  const { status, statusText } = response;
  // 0 is an error or opaque response, 101 an upgrade: neither can be made by hand.
  if (status < 200) return response;
  const headers = new Headers(response.headers);
  setFields(headers, plan, status);
  const body = withoutBody.includes(status) ? null : response.body;
  return new Response(body, { status, statusText, headers });
}

function setFields(headers: Headers, plan: ResponsePlan, status: number): void {
  const redirects = status >= 300 && status < 400;
  for (const [name, value] of plan.headers) {
    // A client might wait for the IETF fields' times before it follows a redirect.
    if (redirects && standardNames.includes(name)) continue;
    if (value === undefined) headers.delete(name);
    else headers.set(name, value);
  }
  if (plan.expose.length === 0) return;
  headers.set(exposeName, mergeExposed(headers.get(exposeName) ?? "", plan.expose));
}
