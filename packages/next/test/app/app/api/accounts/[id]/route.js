export async function GET(_request, { params }) {
  const { id } = await params;
  return new Response(`account ${id}`);
}
