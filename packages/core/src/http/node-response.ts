import { mergeExposed } from "./cors.js";
import type { ResponsePlan } from "./plan.js";

/** What is needed of a Node response: that of `node:http`, of Express, Connect, and Next's Pages API. */
export interface NodeResponse {
  statusCode: number;
  readonly headersSent: boolean;
  readonly writableEnded: boolean;
  readonly destroyed: boolean;
  getHeader(name: string): number | string | readonly string[] | undefined;
  setHeader(name: string, value: string): unknown;
  removeHeader(name: string): void;
  end(body?: string): unknown;
  once(event: "close", listener: () => void): unknown;
  removeListener(event: "close", listener: () => void): unknown;
}

/** Whether nobody waits for this response any more. */
export function isOver(response: NodeResponse): boolean {
  return response.writableEnded || response.destroyed;
}

/** Sets a plan's fields, unless the head has been sent, and answers where the plan says so. */
export function writePlan(response: NodeResponse, plan: ResponsePlan): void {
  if (!response.headersSent) {
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
  response.end(plan.body);
}

function expose(response: NodeResponse, names: readonly string[]): void {
  const header = "Access-Control-Expose-Headers";
  response.setHeader(header, mergeExposed(String(response.getHeader(header) ?? ""), names));
}
