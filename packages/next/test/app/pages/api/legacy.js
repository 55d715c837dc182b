import { decisionOf, withRateLimitApi } from "@headgate/next";
import { shared } from "../../lib/limits.js";

function handler(request, response) {
  response.json({ remaining: decisionOf(request).remaining });
}

export default withRateLimitApi(handler, { ...shared, policies: ["route"] });
