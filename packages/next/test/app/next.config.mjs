export default {
  poweredByHeader: false,
  redirects: async () => [{ source: "/old", destination: "/", permanent: false }],
  rewrites: async () => [{ source: "/renamed", destination: "/api/echo" }],
};
