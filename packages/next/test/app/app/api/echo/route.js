export function GET(request) {
  return Response.json(Object.fromEntries(request.headers));
}
