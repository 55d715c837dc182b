// What a Next.js build for Edge finds in place of the stores over TCP: nothing, so that the build ends at
// the import and names this file. Edge has no TCP; `redisStore` of `@headgate/redis/http` works there.
export {};
