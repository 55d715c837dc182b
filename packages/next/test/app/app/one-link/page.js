import Link from "next/link";

export default function Page() {
  return (
    <Link href="/static" prefetch={false}>
      onwards
    </Link>
  );
}
