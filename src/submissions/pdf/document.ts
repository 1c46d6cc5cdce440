/** The paper sizes of a PDF. */
export const paperSizes = ['A4', 'Letter'] as const;
export type PaperSize = (typeof paperSizes)[number];

/** A picture as PNG or JPEG, in pixels. */
export type Picture = { readonly bytes: Uint8Array; readonly width: number; readonly height: number };

/** A part of the document, in reading order. */
export type PdfBlock =
  | { readonly kind: 'step' | 'question'; readonly level: 2 | 3 | 4 | 5; readonly text: string }
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'signature'; readonly text: string }
  | { readonly kind: 'list'; readonly items: readonly string[]; readonly isNumbered?: boolean }
  | { readonly kind: 'table'; readonly rows: readonly (readonly [label: string, value: string])[] }
  | {
      readonly kind: 'picture';
      readonly alt: string;
      readonly isSignature: boolean;
      readonly picture: Picture;
    };

/** A submission as a document, with every text in the reader's language. */
export type PdfDocument = {
  /** A BCP 47 tag. */
  readonly language: string;
  readonly size: PaperSize;
  /** Whether it is one page in landscape format, with large centered texts and a frame. */
  readonly isCertificate: boolean;
  /** The accent of the form's theme, `#rrggbb`. */
  readonly accent: string;
  readonly logo: Picture | undefined;
  readonly title: string;
  /** When the submission was received or, on a certificate, the day. */
  readonly subtitle: string;
  readonly blocks: readonly PdfBlock[];
  /** The text at the bottom of each page, with `{number}` and `{total}`; on a certificate, its code. */
  readonly footer: string;
};
