export function GET() {
  return new Response("login reached");
}

export const POST = GET;
