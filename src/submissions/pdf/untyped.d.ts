/* Types of packages that have none. */

declare module 'subset-font' {
  /** Returns a font in another format, and with a fixed weight if it has several. */
  export default function subsetFont(
    font: Uint8Array,
    text: undefined,
    options: { targetFormat: 'truetype'; variationAxes: { wght: number }; keepAllGlyphs: true },
  ): Promise<Buffer>;
}

declare module 'linebreak' {
  export default class LineBreaker {
    constructor(text: string);
    nextBreak(): { readonly position: number; readonly required: boolean } | null;
  }
}

declare namespace PDFKit.Mixins {
  interface StructureElementOptions {
    scope?: 'Row';
  }
}
