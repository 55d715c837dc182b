import { mergeExposed } from "./cors.js";
import type { ResponsePlan } from "./plan.js";

/** What is needed of a Node response: that of `node:http`, of Express, Connect, and Next's Pages API. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  readonly req?: { readonly socket?: { readonly destroyed?: boolean } | null };
  getHeader(name: string): number | string | readonly string[] | undefined;
  setHeader(name: string, value: string): unknown;
  removeHeader(name: string): void;
  end(body?: string): unknown;
  once(event: "close", listener: () => void): unknown;
  removeListener(event: "close", listener: () => void): unknown;
}

/** Whether nobody waits for this response any more. */
export function isOver(response: NodeResponse): boolean {
  // The socket too, because a pipelined response hears of its end only once its turn has come.
  return response.writableEnded || response.destroyed || response.req?.socket?.destroyed === true;
}

/** Fields about a body that an earlier step of the chain had in mind, and a refusal does not have. */
const contentFields = [
  "Content-Encoding",
  "Content-Language",
  "Content-Range",
  "ETag",
  "Last-Modified",
];

/** Sets a plan's fields, unless the head has been sent, and answers where the plan says so. */
export function writePlan(response: NodeResponse, plan: ResponsePlan): void {
  if (!response.headersSent) {
    if (plan.action === "reject") for (const name of contentFields) response.removeHeader(name);
    for (const [name, value] of plan.headers) {
      if (value === undefined) response.removeHeader(name);
      else response.setHeader(name, value);
    }
    if (plan.expose.length > 0) expose(response, plan.expose);
  }
  if (plan.action === "continue") return;
  if (response.headersSent) {
    // Somebody has begun to answer: all that is left is to end it.
    response.end();
    return;
  }
  response.statusCode = plan.status;
  // Told here, because Node tells no length on HEAD by itself.
  response.setHeader("Content-Length", String(bytesIn(plan.body)));
  response.end(plan.body);
}

const plainText = /^[ -~]*$/;
const encoder = new TextEncoder();

/** Bodies are plain text nearly always: then each character is a byte, and nothing needs to be encoded. */
function bytesIn(text: string): number {
  return plainText.test(text) ? text.length : encoder.encode(text).length;
}

function expose(response: NodeResponse, names: readonly string[]): void {
  const header = "Access-Control-Expose-Headers";
  response.setHeader(header, mergeExposed(String(response.getHeader(header) ?? ""), names));
}
