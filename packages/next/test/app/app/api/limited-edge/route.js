import { withRateLimit } from "@headgate/next";
import { shared } from "../../../lib/limits.js";

export const runtime = "edge";

export const GET = withRateLimit(
  (_request, { decision }) => Response.json({ remaining: decision.remaining }),
  { ...shared, policies: ["route"] },
);
