"use server";

import { checkRateLimit } from "@headgate/next";
import { shared } from "../../lib/limits.js";

const options = { ...shared, policies: ["action"] };

export async function place() {
  const { allowed, message, decision } = await checkRateLimit(options);
  if (!allowed) return `refused: ${message}`;
  const again = await checkRateLimit(options);
  return `placed, ${decision.remaining} left, then ${again.decision.remaining}`;
}
