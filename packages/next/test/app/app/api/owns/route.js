export function GET() {
  return new Response("ok", { headers: { "X-RateLimit-Limit": "100", "X-Handler": "1" } });
}
