// Stands in the bundled cockpit for the global of this name, which loads histograms and marks of time: a twentieth of
// the first frame, for packages that ask it for nothing but the time.
export const performance = {
  /** Milliseconds since a time of its own; never goes back. */
  now: (): number => {
    const [seconds, nanoseconds] = process.hrtime()
    return seconds * 1_000 + nanoseconds / 1_000_000
  },
}
