import { withRateLimit } from "@headgate/next";
import { ip, limiter } from "../../../lib/limiter";

export const GET = withRateLimit(
  (_request, { decision }) => Response.json({ report: "sales", remaining: decision?.remaining }),
  { limiter, ip, policies: ["report"] },
);
