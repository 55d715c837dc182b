import { rateLimitProxy } from "@headgate/next";
import { ip, limiter } from "./lib/limiter";

export const proxy = rateLimitProxy({
  limiter,
  ip,
  rules: [{ path: "/", policies: ["pages"] }],
});

// The two routes limit themselves, and assets are free.
export const config = { matcher: "/" };
