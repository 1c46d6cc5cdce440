// Receives webhooks: verifies each delivery, handles it once, and answers. Go 1.19 and later, no modules.
//
// The URL of the webhook: https://example.com/hooks/formloom
// Start: WEBHOOK_SECRET=whsec_... PORT=8080 go run receiver.go
// It serves plain HTTP. Put it behind a proxy that terminates TLS for this URL.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var events = []string{"submission.created", "submission.updated", "submission.deleted"}

// --- verification -----------------------------------------------------------

// rawBody: the received bytes, before they are decoded.
// header: r.Header.Get("X-Service-Signature")
func IsFromFormloom(rawBody []byte, header, secret string) bool {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write(rawBody)
	expected := "sha256=" + hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(header), []byte(expected))
}

var standardSecret = regexp.MustCompile(`^whsec_([A-Za-z0-9+/]{4,}={0,2})$`)

// The same with Standard Webhooks, which also rejects recorded deliveries that are sent again later.
// id, sent, given: the headers webhook-id, webhook-timestamp and webhook-signature.
func IsStandardWebhook(rawBody []byte, id, sent, given, secret string, now time.Time) bool {
	seconds, err := strconv.ParseInt(sent, 10, 64)
	if id == "" || err != nil || now.Sub(time.Unix(seconds, 0)).Abs() > 5*time.Minute {
		return false
	}
	key := []byte(secret)
	if found := standardSecret.FindStringSubmatch(secret); found != nil {
		if decoded, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(found[1], "=")); err == nil {
			key = decoded
		}
	}
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(id + "." + sent + "."))
	mac.Write(rawBody)
	expected := "v1," + base64.StdEncoding.EncodeToString(mac.Sum(nil))
	// For a day after the secret changes, there are two signatures.
	isOurs := false
	for _, one := range strings.Split(given, " ") {
		isOurs = hmac.Equal([]byte(one), []byte(expected)) || isOurs
	}
	return isOurs
}

// --- work -------------------------------------------------------------------

type Event struct {
	Event      string `json:"event"`
	DeliveryID string `json:"delivery_id"`
	Submission struct {
		ID        string         `json:"id"`
		Responses map[string]any `json:"responses"`
	} `json:"submission"`
}

func handle(event Event) error {
	log.Println(event.Event, event.Submission.ID, event.Submission.Responses["subject"])
	return nil
}

var notInID = regexp.MustCompile(`[^0-9A-Za-z-]`)

// Calls handle() once for each delivery_id. A failed delivery is sent again.
func handleOnce(event Event, folder string) (isNew bool, err error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return false, err
	}
	// The file stands for a row with a unique key. It is better to write that row and your data in one transaction.
	mark := filepath.Join(folder, notInID.ReplaceAllString(event.DeliveryID, ""))
	file, err := os.OpenFile(mark, os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	file.Close()
	for _, known := range events {
		if known != event.Event {
			continue
		}
		if err := handle(event); err != nil {
			os.Remove(mark)
			return false, err
		}
	}
	return true, nil
}

// --- server -----------------------------------------------------------------

func main() {
	secret, folder, port := os.Getenv("WEBHOOK_SECRET"), os.Getenv("SEEN_DIR"), os.Getenv("PORT")
	if secret == "" {
		log.Fatal("WEBHOOK_SECRET is missing.")
	}
	if folder == "" {
		folder = "seen"
	}
	if port == "" {
		port = "8080"
	}
	http.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		rawBody, err := io.ReadAll(r.Body)
		header := r.Header.Get
		isOurs := err == nil && IsFromFormloom(rawBody, header("X-Service-Signature"), secret) &&
			IsStandardWebhook(rawBody, header("Webhook-Id"), header("Webhook-Timestamp"),
				header("Webhook-Signature"), secret, time.Now())
		if !isOurs {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		var event Event
		if err := json.Unmarshal(rawBody, &event); err != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		isNew, err := handleOnce(event, folder)
		if err != nil {
			log.Println(err)
			w.WriteHeader(http.StatusInternalServerError)
			return
		}
		fmt.Fprintln(w, map[bool]string{true: "done", false: "seen before"}[isNew])
	})
	log.Println("listening on", port)
	log.Fatal(http.ListenAndServe(":"+port, nil))
}
