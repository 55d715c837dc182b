import { withRateLimit } from "@headgate/next";
import { notFound, redirect } from "next/navigation";
import { shared } from "../../../../lib/limits.js";

const answers = {
  json: (id, decision) => Response.json({ id, remaining: decision.remaining }),
  cookies: () => {
    const headers = new Headers();
    headers.append("Set-Cookie", "a=1");
    headers.append("Set-Cookie", "b=2");
    return new Response("cookies", { headers });
  },
  immutable: () => Response.redirect("https://shop.example/", 302),
  login: () => new Response("counted with the proxy's logins"),
  empty: () => new Response(null, { status: 204 }),
  redirect: () => redirect("/static"),
  missing: () => notFound(),
  broken: () => {
    throw new Error("broken on purpose");
  },
};

async function handle(_request, { params, decision }) {
  const { id } = await params;
  return answers[id]?.(id, decision) ?? new Response(null, { status: 404 });
}

const options = {
  ...shared,
  policies: ({ nextUrl }) => (nextUrl.pathname.endsWith("/login") ? "login" : "route"),
};

export const GET = withRateLimit(handle, options);
export const POST = withRateLimit(handle, options);
