export function getServerSideProps() {
  return { props: { made: "on the server" } };
}

export default function Data({ made }) {
  return <h1>{made}</h1>;
}
