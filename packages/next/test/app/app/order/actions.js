"use server";

import { checkRateLimit } from "@headgate/next";
import { shared } from "../../lib/limits.js";

const options = { ...shared, policies: ["route"] };

export async function place() {
  const first = await checkRateLimit(options);
  const again = await checkRateLimit(options);
  console.log(JSON.stringify({ first: first.decision?.remaining, again: again.decision?.remaining }));
}
