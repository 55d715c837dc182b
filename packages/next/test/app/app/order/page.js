"use client";

import { useState } from "react";
import { place } from "./actions.js";

export default function Page() {
  const [said, say] = useState("nothing yet");
  async function order() {
    try {
      say(await place());
    } catch (error) {
      say(`failed: ${error.message}`);
    }
  }
  return (
    <>
      <button type="button" onClick={order}>
        order
      </button>
      <p role="status">{said}</p>
    </>
  );
}
