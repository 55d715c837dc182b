import { withRateLimit } from "@headgate/next";
import { redirect } from "next/navigation";
import { limiter, shared } from "../../../lib/limits.js";

const left = new Set();

const answers = {
  good: () => new Response("good"),
  bad: () => new Response(null, { status: 401 }),
  redirect: () => redirect("/static"),
  broken: () => {
    throw new Error("broken on purpose");
  },
  /** Ends well, once nobody waits for it any more. */
  late: async ({ signal, headers }) => {
    if (!signal.aborted) await new Promise((goOn) => signal.addEventListener("abort", goOn));
    left.add(headers.get("x-forwarded-for"));
    return new Response("good");
  },
};

export const GET = withRateLimit(
  (request) => answers[request.nextUrl.searchParams.get("end")](request),
  { ...shared, policies: ["tries"] },
);

/** How many tries a client has left, and whether it has left a late one. */
export async function POST({ headers }) {
  const ip = headers.get("x-forwarded-for");
  return Response.json({ left: left.has(ip), tries: limiter.peek("tries", { ip }).remaining });
}
