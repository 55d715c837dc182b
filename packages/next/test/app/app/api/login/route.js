export function GET() {
  return new Response("login reached");
}

export function POST() {
  return GET();
}
