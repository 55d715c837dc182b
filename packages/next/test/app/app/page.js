export const dynamic = "force-dynamic";

export default function Page() {
  return <h1>rendered for each request</h1>;
}
