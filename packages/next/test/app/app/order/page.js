import { place } from "./actions.js";

export default function Page() {
  return (
    <form action={place}>
      <button type="submit">order</button>
    </form>
  );
}
