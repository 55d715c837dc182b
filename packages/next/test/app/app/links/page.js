import Link from "next/link";

export default function Page() {
  return (
    <ul>
      {Array.from({ length: 30 }, (_, item) => (
        <li key={item}>
          <Link href={`/items/${item}`}>item {item}</Link>
        </li>
      ))}
    </ul>
  );
}
