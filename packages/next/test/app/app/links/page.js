import Link from "next/link";

const items = Array.from({ length: 30 }, (_, index) => index);

export default function Page() {
  return (
    <ul>
      {items.map((item) => (
        <li key={item}>
          <Link href={`/items/${item}`}>item {item}</Link>
        </li>
      ))}
    </ul>
  );
}
