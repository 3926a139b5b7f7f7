declare module 'marked'
declare module 'dompurify'
