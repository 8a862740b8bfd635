// Types of libraries, or of their entry points, that come without types.
declare module 'vader-sentiment' {
  /** Shares of positive, negative and neutral words, and a total score from -1 to 1. */
  type Scores = { readonly pos: number; readonly neg: number; readonly neu: number; readonly compound: number }
  export const SentimentIntensityAnalyzer: { readonly polarity_scores: (text: string) => Scores }
}
declare module '@mozilla/readability/JSDOMParser.js' {
  /** Parses well-formed markup into a document with the members that Readability uses. */
  // biome-ignore lint/style/noDefaultExport: the package has a default export
  export default class JSDOMParser {
    parse(markup: string, url?: string): unknown
  }
}
