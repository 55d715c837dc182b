"use client";

import { useActionState } from "react";
import { order } from "./actions";

export default function Page() {
  const [said, submit] = useActionState(order, "Three orders in two seconds are fine.");
  return (
    <form action={submit}>
      <button type="submit">Order</button>
      <p role="status">{said}</p>
    </form>
  );
}
