import type { Locale } from '#ast/basics/locales.ts';

/** The service's own texts in a PDF. */
type PdfWords = {
  readonly yes: string;
  readonly no: string;
  readonly received: string;
  readonly saved: string;
  readonly signed: string;
  readonly noAnswers: string;
  readonly page: string;
};

export const pdfWords: Readonly<Record<Locale, PdfWords>> = {
  en: {
    yes: 'Yes',
    no: 'No',
    received: 'Received {date}',
    saved: 'Incomplete, last saved {date}',
    signed: 'Signature',
    noAnswers: 'No answers',
    page: 'Page {number} of {total}',
  },
  fr: {
    yes: 'Oui',
    no: 'Non',
    received: 'Reçu le {date}',
    saved: 'Incomplet, dernier enregistrement le {date}',
    signed: 'Signature',
    noAnswers: 'Aucune réponse',
    page: 'Page {number} sur {total}',
  },
  de: {
    yes: 'Ja',
    no: 'Nein',
    received: 'Eingegangen am {date}',
    saved: 'Unvollständig, zuletzt gespeichert am {date}',
    signed: 'Unterschrift',
    noAnswers: 'Keine Antworten',
    page: 'Seite {number} von {total}',
  },
  es: {
    yes: 'Sí',
    no: 'No',
    received: 'Recibido el {date}',
    saved: 'Incompleto, guardado por última vez el {date}',
    signed: 'Firma',
    noAnswers: 'Sin respuestas',
    page: 'Página {number} de {total}',
  },
  pt: {
    yes: 'Sim',
    no: 'Não',
    received: 'Recebido em {date}',
    saved: 'Incompleto, salvo pela última vez em {date}',
    signed: 'Assinatura',
    noAnswers: 'Sem respostas',
    page: 'Página {number} de {total}',
  },
  nl: {
    yes: 'Ja',
    no: 'Nee',
    received: 'Ontvangen op {date}',
    saved: 'Onvolledig, laatst opgeslagen op {date}',
    signed: 'Handtekening',
    noAnswers: 'Geen antwoorden',
    page: 'Pagina {number} van {total}',
  },
  ar: {
    yes: 'نعم',
    no: 'لا',
    received: 'تاريخ الاستلام: {date}',
    saved: 'غير مكتمل، آخر حفظ: {date}',
    signed: 'التوقيع',
    noAnswers: 'لا توجد إجابات',
    page: 'صفحة {number} من {total}',
  },
  ja: {
    yes: 'はい',
    no: 'いいえ',
    received: '受信日時：{date}',
    saved: '未完了、最終保存：{date}',
    signed: '署名',
    noAnswers: '回答なし',
    page: '{number} / {total} ページ',
  },
  zh: {
    yes: '是',
    no: '否',
    received: '收到时间：{date}',
    saved: '未完成，上次保存：{date}',
    signed: '签名',
    noAnswers: '没有回答',
    page: '第 {number} 页，共 {total} 页',
  },
};
