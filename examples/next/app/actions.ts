"use server";

import { checkRateLimit } from "@headgate/next";
import { ip, limiter } from "../lib/limiter";

export async function order(): Promise<string> {
  const { message } = await checkRateLimit({ limiter, ip, policies: ["order"] });
  return message ?? `Ordered at ${new Date().toISOString()}.`;
}
