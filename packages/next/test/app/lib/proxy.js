import { rateLimitProxy } from "@headgate/next";
import { NextResponse } from "next/server";
import { shared } from "./limits.js";

const limits = rateLimitProxy({
  ...shared,
  rules: [
    { path: "/api/login", policies: ["login"] },
    { path: "/api/accounts/:id", policies: ["login"] },
    { path: "/api/held", policies: ["held"] },
    { path: ["/links", "/items/:path*"], policies: ["browse"] },
    { path: ["/((?!api/|links|items/).*)", "/api/echo", "/api/owns(.*)"], policies: ["page"] },
  ],
  refusalHeaders: () => ({ "Access-Control-Allow-Origin": "https://shop.example" }),
});

/** Limits first, then the application's own decisions. */
export async function limitedProxy(request) {
  const { refusal, applyTo } = await limits.check(request);
  if (refusal !== undefined) return refusal;
  const { pathname } = request.nextUrl;
  if (pathname === "/moved") return applyTo(NextResponse.redirect(new URL("/", request.url)));
  if (pathname === "/moved-bare") return applyTo(Response.redirect(new URL("/", request.url)));
  if (pathname === "/rewritten") {
    const url = request.nextUrl.clone();
    url.pathname = "/api/echo";
    return applyTo(NextResponse.rewrite(url));
  }
  return applyTo(NextResponse.next());
}
