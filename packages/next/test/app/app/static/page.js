export default function Page() {
  return <h1>rendered at build time</h1>;
}
