import { buffer } from 'node:stream/consumers';
import PdfKit from 'pdfkit';
import { directionOf } from '#ast/basics/language-tags.ts';
import { cutMarks, normalizeText } from '#ast/basics/text.ts';
import { fillTemplate } from '#ast/basics/words.ts';
import type { PdfBlock, PdfDocument, Picture } from './document.ts';
import { type FontText, openFonts, type Weight } from './fonts.ts';
import { layOut, type TextLine, type TextRun } from './lay-out.ts';

const margin = 54;
const ink = '#1b1f1e';
const soft = '#5a6360';
const rule = '#d5dad8';
/** The height of a line, in multiples of the font size. */
const leading = 1.45;

/** How much larger the texts of a certificate are, and the additional space above them. */
const certificate = { scale: 1.75, above: 11 } as const;

/** How texts look: size in points, weight, color, and the space above. */
const styles = {
  title: { size: 20, weight: 'bold', color: ink, above: 0 },
  subtitle: { size: 9.5, weight: 'regular', color: soft, above: 4 },
  step: { size: 14, weight: 'bold', color: undefined, above: 22 },
  question: { size: 10.5, weight: 'bold', color: ink, above: 12 },
  text: { size: 10.5, weight: 'regular', color: ink, above: 3 },
  signature: { size: 22, weight: 'regular', color: ink, above: 2 },
  footer: { size: 8.5, weight: 'regular', color: soft, above: 0 },
} as const satisfies Record<
  string,
  { size: number; weight: Weight; color: string | undefined; above: number }
>;
type StyleName = keyof typeof styles;

/** Where the next line goes. */
type Flow = {
  readonly doc: PDFKit.PDFDocument;
  readonly document: PdfDocument;
  readonly direction: 'ltr' | 'rtl';
  /** Chooses a font for each character of a line. */
  readonly choose: (text: string, weight: Weight) => FontText;
  y: number;
};

/** The part of a page's width that a text uses, as distances from its start and end. */
type Inset = { readonly start: number; readonly end: number };
const wholeWidth: Inset = { start: 0, end: 0 };

/** Writes a submission as a tagged PDF (PDF/UA). Runs in a thread. */
export async function renderPdf(
  document: PdfDocument,
  operatorFiles: readonly string[],
): Promise<Uint8Array> {
  const { language, size, title } = document;
  const doc = new PdfKit({
    size,
    layout: document.isCertificate ? 'landscape' : 'portrait',
    margin: 0,
    font: '',
    bufferPages: true,
    pdfVersion: '1.7',
    // Its types do not have this value yet.
    subset: 'PDF/UA' as unknown as PDFKit.Mixins.PDFSubsets,
    tagged: true,
    displayTitle: true,
    lang: language,
    info: { Title: clean(title), Creator: 'Formloom', Producer: 'Formloom' },
  });
  const bytes = buffer(doc);
  const samples = {
    regular: `${textIn(document)}${bullet}0123456789.`,
    bold: textIn([title, document.blocks.filter(({ kind }) => kind === 'step' || kind === 'question')]),
  };
  const choose = await openFonts({ samples, language, operatorFiles }, (name, font) =>
    doc.registerFont(name, font as unknown as PDFKit.Mixins.PDFFontSource),
  );
  const flow: Flow = {
    doc,
    document,
    direction: directionOf(language),
    choose,
    y: document.isCertificate ? 2 * margin : margin,
  };
  drawContent(flow);
  const total = doc.bufferedPageRange().count;
  for (let number = 1; number <= total; number += 1) {
    const text = fillTemplate(document.footer, { number, total });
    doc.switchToPage(number - 1);
    flow.y = doc.page.height - margin + 14;
    drawArtifact(flow, 'Pagination', () => drawText(flow, text, 'footer'));
  }
  doc.end();
  return bytes;
}

/** Returns a text that fonts can draw: composed, with plain line breaks, without control characters. */
const clean = (text: string): string =>
  normalizeText(cutMarks(text.toWellFormed()))
    .replaceAll(/\r\n?|[\v\f\u0085\u2028\u2029]/g, '\n')
    .replaceAll('\t', '    ')
    .replaceAll(/(?![\n\p{Join_Control}\p{Bidi_Control}])[\p{Cc}\p{Default_Ignorable_Code_Point}]/gu, '');

/** Returns the texts of a part of the document, without pictures. */
const textIn = (part: unknown): string =>
  clean(JSON.stringify(part, (key, value: unknown) => (key === 'bytes' ? undefined : value)));

const bullet = '•';

function drawContent(flow: Flow): void {
  const { doc, document } = flow;
  const root = doc.struct('Document');
  doc.addStructure(root);
  const add = (type: string, draw: () => void): void => {
    root.add(doc.struct(type, {}, draw));
  };
  const { width, height } = doc.page;
  drawArtifact(flow, 'Layout', () =>
    document.isCertificate
      ? doc
          .rect(24, 24, width - 48, height - 48)
          .lineWidth(3)
          .stroke(document.accent)
      : doc.rect(0, 0, width, 6).fill(document.accent),
  );
  if (document.logo) {
    const { logo } = document;
    drawArtifact(flow, 'Layout', () => drawPicture(flow, logo, { width: 160, height: 48 }));
    flow.y += 14;
  }
  add('H1', () => drawText(flow, document.title, 'title'));
  add('P', () => drawText(flow, document.subtitle, 'subtitle'));
  for (const block of document.blocks) drawBlock(flow, root, block);
  root.end();
}

function drawBlock(flow: Flow, root: PDFKit.PDFStructureElement, block: PdfBlock): void {
  const { doc } = flow;
  switch (block.kind) {
    case 'step':
    case 'question': {
      const { above, size } = styles[block.kind];
      // A heading stays with the first lines below it.
      makeRoom(flow, above + size * leading * 3);
      if (block.kind === 'step') drawRule(flow, above - 8);
      root.add(doc.struct(`H${block.level}`, {}, () => drawText(flow, block.text, block.kind)));
      break;
    }
    case 'text':
    case 'signature':
      root.add(doc.struct('P', {}, () => drawText(flow, block.text, block.kind)));
      break;
    case 'list':
      root.add(
        doc.struct(
          'L',
          {},
          block.items.map((item, index) =>
            doc.struct('LI', {}, [
              doc.struct('Lbl', {}, () => drawMarker(flow, block.isNumbered ? `${index + 1}.` : bullet)),
              doc.struct('LBody', {}, () => drawText(flow, item, 'text', { start: 18, end: 0 })),
            ]),
          ),
        ),
      );
      break;
    case 'table': {
      const table = doc.struct('Table');
      root.add(table);
      for (const row of block.rows) drawRow(flow, table, row);
      table.end();
      break;
    }
    case 'picture': {
      const box = block.isSignature ? { width: 220, height: 80 } : { width: contentWidth(flow), height: 280 };
      const draw = (): void => drawPicture(flow, block.picture, box);
      root.add(doc.struct('Figure', { alt: clean(block.alt) }, draw));
    }
  }
}

/** Draws a row of a matrix: the label and the answer side by side. */
function drawRow(
  flow: Flow,
  table: PDFKit.PDFStructureElement,
  [label, value]: readonly [string, string],
): void {
  const { doc } = flow;
  const half = contentWidth(flow) / 2;
  makeRoom(flow, styles.text.size * leading * 3);
  drawRule(flow, 3);
  flow.y += 3;
  const top = flow.y;
  const drawValue = (): void => {
    const below = flow.y;
    // If the label continued on a new page, the value starts below it.
    if (top < below) flow.y = top;
    drawText(flow, value, 'text', { start: half + 10, end: 0 });
    flow.y = Math.max(flow.y, below);
  };
  table.add(
    doc.struct('TR', {}, [
      doc.struct('TH', { scope: 'Row' }, () => drawText(flow, label, 'text', { start: 0, end: half })),
      doc.struct('TD', {}, drawValue),
    ]),
  );
}

const contentWidth = ({ doc }: Flow): number => doc.page.width - 2 * margin;

/** Continues on a new page if the rest of the page is lower than `height`. */
function makeRoom(flow: Flow, height: number): void {
  if (flow.y + height <= flow.doc.page.height - margin) return;
  flow.doc.continueOnNewPage();
  flow.y = margin;
}

function drawText(flow: Flow, text: string, name: StyleName, { start, end }: Inset = wholeWidth): void {
  const { weight, color = flow.document.accent, ...style } = styles[name];
  const isLarge = flow.document.isCertificate && name !== 'footer';
  const size = style.size * (isLarge ? certificate.scale : 1);
  flow.y += style.above + (isLarge ? certificate.above : 0);
  const width = contentWidth(flow) - start - end;
  const measure = ({ font, text: run }: TextRun): number => flow.doc.font(font, size).widthOfString(run);
  for (const paragraph of clean(text).split('\n'))
    for (const line of layOut(flow.choose(paragraph, weight), {
      width,
      direction: flow.direction,
      measure,
    })) {
      if (name !== 'footer') makeRoom(flow, size * leading);
      flow.doc.fillColor(color);
      drawLine(flow, line, size, { start, end });
      flow.y += size * leading;
    }
}

/** Returns the left edge of something: at the start of the reading direction, or centered on a certificate. */
function startOf({ doc, direction, document }: Flow, width: number, inset = 0): number {
  if (document.isCertificate) return (doc.page.width - width) / 2;
  return direction === 'rtl' ? doc.page.width - margin - inset - width : margin + inset;
}

function drawLine(flow: Flow, { runs, width }: TextLine, size: number, { start }: Inset): void {
  const { doc } = flow;
  let x = startOf(flow, width, start);
  for (const { text, font, isReversed } of runs) {
    doc.font(font, size);
    const options = {
      lineBreak: false,
      baseline: 'alphabetic',
      // Without features, PDFKit lays out each word alone, in the order of the text.
      ...(isReversed && { features: [] }),
    } as const;
    doc.text(text, x, flow.y + size * 1.1, options);
    x += doc.widthOfString(text);
  }
}

/** Draws the bullet or number of a list item beside its first line. */
function drawMarker(flow: Flow, marker: string): void {
  const { size, above } = styles.text;
  makeRoom(flow, above + size * leading);
  const { y } = flow;
  drawText(flow, marker, 'text');
  flow.y = y;
}

/** Draws a picture as large as it fits into a box. */
function drawPicture(
  flow: Flow,
  { bytes, width, height }: Picture,
  box: { width: number; height: number },
): void {
  const { doc } = flow;
  // A pixel is at most 0.75 points, as on a screen.
  const scale = Math.min(0.75, box.width / width, box.height / height);
  const [w, h] = [width * scale, height * scale];
  flow.y += 4;
  makeRoom(flow, h);
  doc.image(Buffer.from(bytes), startOf(flow, w), flow.y, { width: w, height: h });
  flow.y += h + 4;
}

function drawRule(flow: Flow, below: number): void {
  const { doc } = flow;
  const y = flow.y + below;
  drawArtifact(flow, 'Layout', () =>
    doc
      .moveTo(margin, y)
      .lineTo(doc.page.width - margin, y)
      .lineWidth(0.75)
      .stroke(rule),
  );
}

/** Draws something that screen readers skip. */
function drawArtifact({ doc }: Flow, type: 'Layout' | 'Pagination', draw: () => void): void {
  doc.markContent('Artifact', { type });
  draw();
  doc.endMarkedContent();
}
