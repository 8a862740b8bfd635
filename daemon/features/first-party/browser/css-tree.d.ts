// Entry points without the data of all CSS properties.
declare module 'css-tree/parser' {
  // biome-ignore lint/style/noDefaultExport: the package has it so
  export { parse as default } from 'css-tree'
}
declare module 'css-tree/generator' {
  // biome-ignore lint/style/noDefaultExport: the package has it so
  export { generate as default } from 'css-tree'
}
declare module 'css-tree/walker' {
  // biome-ignore lint/style/noDefaultExport: the package has it so
  export { walk as default } from 'css-tree'
}
