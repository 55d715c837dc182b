import { withRateLimitApi } from "@headgate/next";
import { ip, limiter } from "../../lib/limiter";

export default withRateLimitApi(
  (_request, response) => response.status(401).json({ error: "wrong password" }),
  { limiter, ip, policies: ["login"] },
);
