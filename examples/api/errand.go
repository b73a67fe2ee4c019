// Makes an agent and a number, places a call, prints how many calls there are.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"
)

var client = http.Client{Timeout: 30 * time.Second}

// ask sends input as JSON where there is one and reads the answer into output.
func ask(method, path string, input any, idempotencyKey string, output any) {
	var body io.Reader
	if input != nil {
		text, err := json.Marshal(input)
		if err != nil {
			log.Fatal(err)
		}
		body = bytes.NewReader(text)
	}
	request, err := http.NewRequest(method, os.Getenv("PATCHBAY_URL")+path, body)
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("x-api-key", os.Getenv("PATCHBAY_KEY"))
	request.Header.Set("content-type", "application/json")
	if idempotencyKey != "" {
		request.Header.Set("idempotency-key", idempotencyKey)
	}
	answer, err := client.Do(request)
	if err != nil {
		log.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		log.Fatal(err)
	}
	if answer.StatusCode >= 400 {
		log.Fatalf("%s %s: %s %s", method, path, answer.Status, text)
	}
	if err := json.Unmarshal(text, output); err != nil {
		log.Fatal(err)
	}
}

func main() {
	var agent struct {
		ID string `json:"agent_id"`
	}
	ask("POST", "/agents", map[string]string{"agent_name": "Ada", "system_prompt": "You confirm orders."}, "", &agent)
	var number struct {
		Number string `json:"phone_number"`
	}
	ask("POST", "/phone-numbers", map[string]string{"phone_number": "+14155550100", "provider": "sim", "agent_id": agent.ID}, "", &number)
	call := map[string]string{"agent_phone_number": number.Number, "phone_number_to_dial": "+14155550199"}
	// Sent again with the same key, it is the same call.
	for range [2]int{} {
		var placed struct{}
		ask("POST", "/calls/outbound_call", call, "order-4711", &placed)
	}
	var calls struct {
		Total int `json:"total"`
	}
	ask("GET", "/calls/logs", nil, "", &calls)
	fmt.Println(calls.Total)
}
