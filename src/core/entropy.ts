/** Draws bytes from a CSPRNG. */
export type Entropy = (bytes: number) => Buffer
