declare module "cluster-key-slot" {
  /** The slot of a key in a Redis cluster, from its hash tag where it has one. */
  function calculateSlot(key: string): number;
  export = calculateSlot;
}
