export default async function Page({ params }) {
  const { item } = await params;
  return <h1>item {item}</h1>;
}
